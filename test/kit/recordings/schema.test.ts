import { readFileSync, writeFileSync } from 'node:fs'
import { toJsonSchema } from '@valibot/to-json-schema'
import { expect, test } from 'vitest'
import { descriptionOf } from '../../../src/config/schema.ts'
import { RECORDING } from '../../../src/kit/recordings/recording.ts'
import { UPDATE } from '../../generated-page.ts'

const FILE = 'docs/recording.schema.json'

test('the published schema is that of the files', () => {
  const schema = toJsonSchema(RECORDING, {
    ...{ typeMode: 'input', errorMode: 'ignore' },
    overrideSchema: ({ valibotSchema }) => descriptionOf(valibotSchema) ?? null,
  })
  const text = `${JSON.stringify({ title: 'Interlingua recording', ...schema }, null, 2)}\n`
  if (UPDATE) writeFileSync(FILE, text)
  else expect(readFileSync(FILE, 'utf8')).toBe(text)
})
