import * as v from 'valibot'
import { isObject, type Json } from '../../canonical/node.ts'
import { SETTINGS } from '../../formats/settings/interactions.ts'
import { byValue, json, maybe, maybeText, settingEntries, shape } from '../errors/validation-error.ts'

export const FORMAT = 'interactions'

const maybeFlag = maybe(v.boolean())

/**
 * Returns the schema of a list or another value. The input determines which, so that the error names the faulty item.
 */
const listOr = (item: v.GenericSchema, otherwise: v.GenericSchema): v.GenericSchema =>
  v.lazy(input => (Array.isArray(input) ? v.array(item) : otherwise))

const media = shape({ data: maybeText, mime_type: maybeText, uri: maybeText, resolution: maybeText })

/** Contents that are read. Contents of other types become opaque. */
const CONTENTS = {
  text: shape({ text: v.string(), annotations: maybe(v.array(json)) }),
  image: media,
  audio: media,
  video: media,
  document: media,
}

/** Types of contents, which `input` may contain in place of steps. */
export const CONTENT_TYPES: ReadonlySet<Json | undefined> = new Set(Object.keys(CONTENTS))

const content = byValue('type', CONTENTS, shape({ type: v.string() }))

/** Returns true for a list of contents, false for a list of free-form JSON. A tool result may be either. */
export const isContentList = (value: Json): value is readonly Json[] =>
  Array.isArray(value) && value.every(one => isObject(one) && typeof one['type'] === 'string')

const result = shape({
  call_id: maybeText,
  name: maybeText,
  is_error: maybeFlag,
  result: maybe(v.lazy(input => (isContentList(input as Json) ? v.array(content) : v.any()))),
})

/** Schema of a turn's content. Some clients put tool results there. */
const turn = maybe(
  listOr(byValue('type', { ...CONTENTS, function_result: result }, shape({ type: v.string() })), v.string()),
)

const STEPS = {
  ...CONTENTS,
  user_input: shape({ content: turn }),
  model_output: shape({ content: maybe(listOr(content, v.string())) }),
  thought: shape({ signature: maybeText, summary: maybe(v.array(json)) }),
  function_call: shape({ id: maybeText, name: v.string(), arguments: maybe(v.any()), signature: maybeText }),
  function_result: result,
}

/** Schema of a turn from clients that do not use steps. */
const roleTurn = shape({ role: v.picklist(['user', 'model']), content: turn })

const step = byValue('type', STEPS, shape({ type: v.string() }), roleTurn)

const functionTool = shape({ name: v.string(), description: maybeText, parameters: maybe(json) })
const tool = byValue('type', { function: functionTool }, shape({ type: v.string() }))

const choice = v.lazy(input =>
  isObject(input)
    ? shape({ allowed_tools: maybe(shape({ mode: maybeText, tools: maybe(v.array(v.string())) })) })
    : maybeText,
)

const generationConfig = shape({
  ...settingEntries(SETTINGS),
  stop_sequences: maybe(v.array(v.string())),
  thinking_level: maybeText,
  thinking_summaries: maybeText,
  tool_choice: maybe(choice),
  image_config: maybe(json),
})

/** Returns true if a body names either a model or an agent, but not both. */
export const namesOne = ({ model, agent }: { readonly model?: unknown; readonly agent?: unknown }): boolean =>
  (model == null) !== (agent == null)

/**
 * Schema of the request (docs/wire/interactions.md#request). Unknown fields are accepted, and free-form JSON is never
 * validated.
 */
export const request = v.pipe(
  shape({
    model: maybeText,
    agent: maybeText,
    input: maybe(
      listOr(
        step,
        v.lazy(input => (typeof input === 'string' ? v.string() : step)),
      ),
    ),
    system_instruction: maybeText,
    tools: maybe(v.array(tool)),
    generation_config: maybe(generationConfig),
    response_format: maybe(listOr(json, json)),
    response_mime_type: maybeText,
    response_modalities: maybe(v.array(v.string())),
    previous_interaction_id: maybeText,
    store: maybeFlag,
    background: maybeFlag,
    stream: maybeFlag,
    service_tier: maybeText,
    labels: maybe(json),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || namesOne(dataset.value)) return
    const path = [
      { type: 'object', origin: 'value', input: dataset.value, key: 'model', value: dataset.value.model },
    ] as const
    addIssue({ message: 'Either a model or an agent is required', path: [...path] })
  }),
)
