import type { Losses } from '../canonical/loss.ts'
import type { Output } from '../canonical/request.ts'

/**
 * Reports the losses of a text completion that is sent as a conversation: the model answers the prompt instead of
 * continuing it, and `suffix` is dropped (docs/wire/completions.md#prompts). `echo` is not lost, because the writer of
 * the caller's format repeats the prompt.
 */
export function reportCompletion({ completion }: Output, losses: Losses): void {
  if (completion === undefined) return
  losses.drop(['output', 'completion'], 'asked-as-a-question')
  losses.dropFields(completion, ['output', 'completion'], { suffix: 'no-suffix' })
}
