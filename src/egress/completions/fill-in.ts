import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { CompletionsDialect } from '../../formats/dialects/completions.ts'

/*
 * Editors send the text behind the cursor as `suffix`, which vLLM ("suffix is not currently supported",
 * github-copilot-llm-gateway#51, void#544, vllm#44228) and llama.cpp ("Unsupported param: suffix",
 * docker/model-runner#403) refuse. Their models fill in the middle if the prompt has the tokens that they were trained
 * with (templates of continuedev/continue, `core/autocomplete/templating`; model cards; read on 2026-12-01).
 */

type Template = (prefix: string, suffix: string) => string

const pipes: Template = (prefix, suffix) => `<|fim_prefix|>${prefix}<|fim_suffix|>${suffix}<|fim_middle|>`

/** Templates by the model's name in lower case. The first matching row applies. */
const TEMPLATES: readonly (readonly [model: RegExp, template: Template])[] = [
  [/qwen|codegemma/, pipes],
  [/deepseek/, (prefix, suffix) => `<｜fim▁begin｜>${prefix}<｜fim▁hole｜>${suffix}<｜fim▁end｜>`],
  [/codestral/, (prefix, suffix) => `[SUFFIX]${suffix}[PREFIX]${prefix}`],
  [/starcoder|stable-?code|granite/, (prefix, suffix) => `<fim_prefix>${prefix}<fim_suffix>${suffix}<fim_middle>`],
  [/code-?llama/, (prefix, suffix) => `<PRE> ${prefix} <SUF>${suffix} <MID>`],
]

/** Returns true if the request has a suffix that the upstream refuses. */
export const hasRefusedSuffix = ({ output }: CanonicalRequest, { suffix }: CompletionsDialect): boolean =>
  suffix === false && output.completion?.suffix !== undefined

/** Writes the suffix into the prompts, or leaves it out if the model's tokens are not known. */
export function withSuffixInPrompt(
  request: CanonicalRequest,
  dialect: CompletionsDialect,
  losses: Losses,
): CanonicalRequest {
  if (!hasRefusedSuffix(request, dialect)) return request
  const { suffix = '', ...completion } = request.output.completion!
  const output = { ...request.output, completion }
  const path = ['output', 'completion', 'suffix']
  const template = TEMPLATES.find(([model]) => model.test(request.model.toLowerCase()))?.[1]
  if (suffix === '' || template === undefined || !request.messages.every(isText)) {
    losses[suffix === '' ? 'dropRestored' : 'drop'](path, 'no-suffix')
    return { ...request, output }
  }
  losses.dropRestored(path, 'in-the-prompt')
  const messages = request.messages.map((message, index): Message => {
    const [part] = message.content
    const text = template(part?.type === 'text' ? part.text : '', suffix)
    losses.changeRestored(['messages', index, 'content', 0, 'text'], text, 'with-the-suffix')
    return { ...message, content: [{ type: 'text', text }] } as Message
  })
  return { ...request, messages, output }
}

/** Returns true for a prompt of one text. Those of token ids are not written anew. */
const isText = ({ content }: Message): boolean => content.length === 1 && content[0]!.type === 'text'
