import type { Losses } from '../canonical/loss.ts'
import type { Output } from '../canonical/request.ts'

/**
 * A conversation cannot continue a text (docs/wire/completions.md#prompts): it answers the text as a question, without
 * a given suffix. Whatever writes the answer repeats the prompt for `echo`.
 */
export function reportCompletion({ completion }: Output, losses: Losses): void {
  if (completion === undefined) return
  losses.drop(['output', 'completion'], 'asked-as-a-question')
  losses.dropFields(completion, ['output', 'completion'], { suffix: 'no-suffix' })
}
