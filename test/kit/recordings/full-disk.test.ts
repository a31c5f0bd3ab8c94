import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

/** Writes the beginning of a file and fails as a full disk does. */
async function write(file: string, text: string): Promise<void> {
  writeFileSync(file, text.slice(0, 20))
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
}

test('a full disk does not break the call that is recorded, and leaves no part of a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'full-'))
  const upstream = await FakeUpstream.open(response => response.end('{"id":"a"}'))
  const warnings: string[] = []
  const recorder = new Recorder({ folder, write, warn: message => warnings.push(message) })
  const proxy = await openRecordProxy({ upstream: upstream.address, recorder })
  const answers = await Promise.all(
    [1, 2, 3].map(async () => (await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body: '{}' })).json()),
  )
  await proxy.close()
  await upstream.close()
  expect(answers).toEqual([{ id: 'a' }, { id: 'a' }, { id: 'a' }])
  expect(warnings).toEqual(
    Array.from({ length: 3 }, () => 'cannot record POST /v1/chat/completions: ENOSPC: no space left on device, write'),
  )
  expect(readdirSync(folder)).toEqual([])
})
