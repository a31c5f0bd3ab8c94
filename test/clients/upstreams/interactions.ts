import type { JsonObject } from '../../../src/canonical/node.ts'
import {
  type Heard,
  halves,
  joined,
  type Loose,
  outputOf,
  PROOF,
  type Scene,
  type UpstreamFormat,
  USAGE,
} from '../scene.ts'

const usage = {
  total_input_tokens: USAGE.input,
  total_cached_tokens: USAGE.cached,
  total_output_tokens: USAGE.output - USAGE.thought,
  total_thought_tokens: USAGE.thought,
  total_tokens: USAGE.input + USAGE.output,
}

const head = { id: 'v1_up', object: 'interaction', model: 'm' }
const ended = (scene: Scene): JsonObject => ({
  ...head,
  status: scene.calls === undefined ? 'completed' : 'requires_action',
  usage,
})

/** Returns the steps of an answer. */
const stepsOf = ({ thought, text, calls = [] }: Scene): Loose[] => [
  ...(thought === undefined
    ? []
    : [{ type: 'thought', signature: PROOF, summary: thought === '' ? [] : [{ type: 'text', text: thought }] }]),
  ...(text === undefined ? [] : [{ type: 'model_output', content: [{ type: 'text', text }] }]),
  ...calls.map(({ id, name, arguments: given }) => ({ type: 'function_call', id, name, arguments: given })),
]

/** Returns the start of a step, and its deltas. */
const STREAMED: { readonly [type: string]: (step: Loose) => readonly [start: Loose, deltas: Loose[]] } = {
  thought: ({ type, signature, summary }) => [
    { type },
    [
      ...summary.flatMap(({ text }: Loose) =>
        halves(text).map(half => ({ type: 'thought_summary', content: { type: 'text', text: half } })),
      ),
      { type: 'thought_signature', signature },
    ],
  ],
  model_output: ({ type, content }) => [{ type }, halves(content[0].text).map(text => ({ type: 'text', text }))],
  function_call: step => [
    { ...step, arguments: {} },
    halves(JSON.stringify(step.arguments)).map(half => ({ type: 'arguments_delta', arguments: half })),
  ],
}

const eventsOf = (step: Loose, index: number): Loose[] => {
  const [start, deltas] = STREAMED[step.type]!(step)
  return [
    { event_type: 'step.start', index, step: start },
    ...deltas.map(delta => ({ event_type: 'step.delta', index, delta })),
    { event_type: 'step.stop', index },
  ]
}

const frame = (event: Loose): string => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`

const ROLES: { readonly [type: string]: string } = { user_input: 'user', function_result: 'tool' }

/** Values in place of a signature that Google issued (trap 31). */
const NO_PROOF: ReadonlySet<string> = new Set(['', 'skip_thought_signature_validator'])

function hearStep(step: Loose, names: Map<string, string>): Heard {
  const role = ROLES[step.type] ?? 'assistant'
  const { type, content = [], signature } = step
  const proofs = NO_PROOF.has(signature ?? '') ? {} : { proofs: [signature] }
  if (type === 'function_result')
    return { role, text: '', results: [{ name: names.get(step.call_id) ?? '?', output: outputOf(step.result) }] }
  if (type === 'function_call') {
    names.set(step.id, step.name)
    return { role, text: '', calls: [{ name: step.name, arguments: step.arguments }], ...proofs }
  }
  return {
    role,
    text: content.map((part: Loose) => part.text ?? '').join(''),
    images: content.flatMap((part: Loose) => (part.type === 'image' ? [part.data] : [])),
    ...proofs,
  }
}

const CODES: { readonly [status: number]: string } = {
  ...{ 400: 'invalid_request', 401: 'authentication', 403: 'permission_denied', 404: 'model_not_found' },
  ...{ 429: 'rate_limit_exceeded', 500: 'api_error', 503: 'service_unavailable', 504: 'gateway_timeout' },
  // Words of a proxy in front of it: the status decides.
  ...{ 413: 'request_too_large', 529: 'overloaded' },
}

const error = (status: number, message: string): JsonObject => ({
  error: { code: CODES[status] ?? 'invalid_request', message },
})

export const interactions: UpstreamFormat = {
  whole: scene => ({ ...ended(scene), steps: stepsOf(scene) }),
  frames: scene => [
    frame({ event_type: 'interaction.created', interaction: { ...head, status: 'in_progress' } }),
    ...stepsOf(scene).flatMap(eventsOf).map(frame),
    frame({ event_type: 'interaction.completed', interaction: ended(scene) }),
    'event: done\ndata: [DONE]\n\n',
  ],
  breakOff: message => frame({ event_type: 'error', ...error(500, message) }),
  error,
  hear: body => {
    const { input, system_instruction, tools = [], response_format, generation_config = {} } = body as Loose
    const names = new Map<string, string>()
    const system = system_instruction === undefined ? [] : [{ role: 'system', text: system_instruction }]
    return {
      turns: joined([...system, ...input.map((step: JsonObject) => hearStep(step, names))]),
      tools: tools.map((tool: Loose) => tool.name),
      schema: [response_format].flat().find((one: Loose) => one?.type === 'text')?.schema,
      thinks: generation_config.thinking_level !== undefined || generation_config.thinking_summaries !== undefined,
      limit: generation_config.max_output_tokens,
    }
  },
  streams: (_, body) => body['stream'] === true,
}
