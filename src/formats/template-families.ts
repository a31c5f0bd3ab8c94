import type { Format, JsonObject } from '../canonical/node.ts'

/*
 * Demands of models' chat templates, on servers that run them as they are (the flag `chat_templates`). Sources,
 * read on 2026-12-01: `models/templates` of llama.cpp in llama-cpp-python 0.3.36, run over requests; mini-swe-agent#759,
 * eclipse-peon-ai#75 and crush#279 (Mistral), adk-python#1373 (Gemma), llama.cpp#20733 and #27367 (Qwen 3.5).
 */

const ONE_INSTRUCTION = { system_turns: false } as const
const JOINED_TURNS = { joined_turns: true } as const

/** Flags by the model's name in lower case, whoever calls. The first matching row applies. */
const TEMPLATES: readonly (readonly [name: RegExp, dialect: JsonObject])[] = [
  [
    /mi(?:s|x|nis)tral|magistral|devstral|codestral|pixtral/,
    { ...ONE_INSTRUCTION, ...JOINED_TURNS, after_tools: 'assistant', call_ids: 'short' },
  ],
  [/gemma-?[123](?!\d)/, { ...ONE_INSTRUCTION, ...JOINED_TURNS }],
  [/qwen-?3(?:\.|p)[5-9]/, ONE_INSTRUCTION],
]

/**
 * Returns the flags that the templates of a channel demand of requests, or undefined for none. Native callers do not
 * know the template of a local model, so that they get what its template is known to demand. Requests from other formats
 * are written so that any template takes them.
 */
export function templateDialect(
  format: Format,
  channel: JsonObject,
  { model, native }: { readonly model: string; readonly native: boolean },
): JsonObject | undefined {
  if (format !== 'chat' || channel['chat_templates'] !== true) return undefined
  const name = model.toLowerCase()
  const known = TEMPLATES.find(([family]) => family.test(name))?.[1]
  return native ? known : { ...ONE_INSTRUCTION, ...JOINED_TURNS, ...known }
}
