import type { Json } from '../../canonical/node.ts'

/**
 * Translation models of Alibaba Cloud, each of whose chunks has the whole text so far. Its page on Qwen-MT names
 * `qwen-mt-flash` and `qwen-mt-lite` as the ones that stream pieces (alibabacloud.com/help/en/model-studio/machine-translation,
 * read 2026-12-01).
 */
const REPEATS_TEXT = /^qwen-mt-(?:plus|turbo)/i

/** Returns true if each chunk of the model's streams repeats the text of the chunks before it. */
export const repeatsText = (model: Json | undefined): boolean => typeof model === 'string' && REPEATS_TEXT.test(model)

/** Returns what each chunk adds to the text before it, in streams whose chunks have the whole text so far. */
export class RepeatedText {
  private before = ''

  /** A text that does not begin with the text so far is a piece. */
  added(content: string): string {
    const isWhole = content.startsWith(this.before)
    const added = isWhole ? content.slice(this.before.length) : content
    this.before += added
    return added
  }
}
