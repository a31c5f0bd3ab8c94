import type { Format } from '../canonical/node.ts'

/**
 * Models that take text only, whoever hosts them, by their names in lower case. DeepSeek V4 Pro and the models before
 * V4 are among them, V4 Flash is not: DeepSeek serves it by V4.1 Flash, which takes images.
 *
 * Sources, read on 2026-12-01: "Vision" and "Models & Pricing" (api-docs.deepseek.com); deepseek-ai/DeepSeek-V3#1026,
 * rikkahub#1433, hermes-webui#2297, openclaude#1071 and cc-switch#3663 (errors of DeepSeek), cloudflare-docs#32853
 * (V4 Pro at Cloudflare). gpt-oss: `catalogue/models.json`, which lists text alone for each of its hosts.
 */
const TEXT_ONLY_MODELS: readonly RegExp[] = [/deepseek[-.](?:chat-)?(?:v[23](?!\d)|v4-pro|r1|coder|prover)/, /gpt-oss/]

/** Formats whose writers can leave out images (the flag `images`). */
const IMAGE_FORMATS: ReadonlySet<Format> = new Set(['chat', 'messages', 'responses', 'converse'])

/** Returns true if the model is known to take no images in this format. */
export function takesTextOnly(format: Format, model: string): boolean {
  if (!IMAGE_FORMATS.has(format)) return false
  const name = model.toLowerCase()
  return TEXT_ONLY_MODELS.some(family => family.test(name))
}
