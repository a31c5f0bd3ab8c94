import { schemasOfTools } from './asked.ts'
import { schemasIn } from './schemas.ts'
import { hi, type Loose, type Refusal } from './vendor.ts'

/*
 * What the servers of llama.cpp and LM Studio cannot compile into a grammar. They compile the schemas of all tools, so
 * that one fails every request.
 */

const CONVERTER = 'common/json-schema-to-grammar.cpp of ggml-org/llama.cpp (011c6c3), read on 2026-12-01'

const rule = (error: string, source: string, refuses: (schema: Loose, root: Loose) => boolean, a: Loose): Refusal => ({
  error,
  source,
  refuses: body => schemasOfTools(body).some(root => schemasIn(root).some(schema => refuses(schema, root))),
  example: {
    ...hi,
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a } } } }],
  },
  native: true,
})

const BOUNDS = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const

export const GRAMMAR: readonly Refusal[] = [
  rule(
    'failed to parse grammar: number of repetitions exceeds sane defaults',
    'ggml-org/llama.cpp#25746 and #26596, unslothai/unsloth#9923, firecrawl/firecrawl#4512, read on 2026-12-01',
    schema => BOUNDS.some(bound => schema[bound] >= 2000),
    { type: 'string', maxLength: 2000 },
  ),
  rule(
    "Pattern must start with '^' and end with '$'",
    CONVERTER,
    ({ pattern }) => pattern !== undefined && !(pattern.startsWith('^') && pattern.endsWith('$')),
    { type: 'string', pattern: '[a-z]+' },
  ),
  rule(
    'Unsupported ref, or Error resolving ref',
    CONVERTER,
    ({ $ref }, root) => {
      if ($ref === undefined) return false
      const names = $ref.split('/').slice(1)
      return !$ref.startsWith('#/') || names.reduce((at: Loose, name: string) => at?.[name], root) === undefined
    },
    { $ref: '#' },
  ),
]
