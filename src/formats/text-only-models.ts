import type { Format } from '../canonical/node.ts'

/**
 * Models that take text only, whoever hosts them, by their names in lower case. DeepSeek V4 Pro and the models before
 * V4 are among them, V4 Flash is not: DeepSeek serves it by V4.1 Flash, which takes images.
 *
 * Sources, read on 2026-12-01: "Vision" and "Models & Pricing" (api-docs.deepseek.com); deepseek-ai/DeepSeek-V3#1026,
 * rikkahub#1433, hermes-webui#2297, openclaude#1071 and cc-switch#3663 (errors of DeepSeek), cloudflare-docs#32853
 * (V4 Pro at Cloudflare). gpt-oss: `catalogue/models.json`, which lists text alone for each of its hosts. GLM to 5.2
 * ("messages.content.type", 1210): zcode-api#26, cc-switch#5025, dyad#1353. MiniMax M2: openclaw#65453, which cites
 * MiniMax's page. Qwen: opencode#29653. Kimi K2 before K2.5, MiMo, Step and the others again: the models of their makers
 * in @oh-my-pi/pi-catalog 18.2.11 (npm), as `catalogue/models.json` has them.
 */
const TEXT_ONLY_MODELS: readonly RegExp[] = [
  /deepseek[-.](?:chat-)?(?:v[23](?!\d)|v4-pro|r1|coder|prover)/,
  /gpt-oss/,
  /glm-(?:4[.p-][567]|5(?:[.p-][12])?)(?![.\dpv]|-[3-9](?!\d))/,
  /minimax-m2/,
  /kimi-k2(?:$|-(?:0711|0905|instruct|thinking|turbo))/,
  /qwen-?3-(?:coder|max)|qwen3[.p]7-max/,
  /mimo-v2(?:-pro|-flash|[.p]5-pro)/,
  /step-3[.p]5-flash/,
]

/** Formats whose writers can leave out images (the flag `images`). */
const IMAGE_FORMATS: ReadonlySet<Format> = new Set(['chat', 'messages', 'responses', 'converse'])

/** Returns true if the model is known to take no images in this format. */
export function takesTextOnly(format: Format, model: string): boolean {
  if (!IMAGE_FORMATS.has(format)) return false
  const name = model.toLowerCase()
  return TEXT_ONLY_MODELS.some(family => family.test(name))
}
