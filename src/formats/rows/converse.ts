import { FLAGS } from '../dialects/converse.ts'
import { ANYWHERE, modelFields } from './model-field-lists.ts'
import type { FormatRow } from './row.ts'

export const converse: FormatRow = {
  name: { en: 'Converse (Bedrock)', zh: 'Converse（Bedrock）', short: 'Converse' },
  upstream: { does: ['conversation', 'completion', 'count'], versioned: 'path', auth: 'bearer' },
  otherPaths: /^(?:\/bedrock)?\/model\//,
  modelFields: modelFields(ANYWHERE, []),
  flags: FLAGS,
}
