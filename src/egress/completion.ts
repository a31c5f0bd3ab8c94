import type { Losses } from '../canonical/loss.ts'
import type { Output } from '../canonical/request.ts'

/**
 * What a conversation makes of the wish to have a text gone on from (FORMATS §3): it answers the text as a question,
 * and writes towards no given end. A prompt that is to be repeated is repeated by whoever writes the answer.
 */
export function reportCompletion({ completion }: Output, losses: Losses): void {
  if (completion === undefined) return
  losses.drop(['output', 'completion'], 'asked-as-a-question')
  losses.dropFields(completion, ['output', 'completion'], { suffix: 'no-suffix' })
}
