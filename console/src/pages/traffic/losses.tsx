import type { Capture } from '../../api/types.ts'
import { reasonText } from '../../i18n/loss-reasons.ts'
import { Badge } from '../../ui/badge.tsx'
import { Icon } from '../../ui/icon.tsx'
import { text } from './texts.ts'

/** One loss of an attempt. */
export type Loss = Capture['attempts'][number]['losses'][number]

interface LossesProps {
  readonly losses: readonly Loss[]
  readonly inAnswer: readonly Loss[]
  readonly onShow: (pointer: string) => void
}

/** List of losses with their paths in the caller's request. */
export function Losses({ losses, inAnswer, onShow }: LossesProps) {
  const words = text().losses
  const all = [...losses.map(loss => ({ loss, isAnswer: false })), ...inAnswer.map(loss => ({ loss, isAnswer: true }))]
  if (all.length === 0)
    return (
      <p class="capture-lossless">
        <Icon name="check" />
        {words.none}
      </p>
    )
  return (
    <details class="capture-losses" open>
      <summary>
        <Icon name="warning" />
        {words.title(all.length)}
      </summary>
      <ul>
        {all.map(({ loss, isAnswer }, index) => (
          <li key={index}>
            <Badge tone={loss.restored ? 'neutral' : 'warn'}>{kindOf(loss)}</Badge>
            {loss.pointer === undefined ? (
              <code>{placeOf(loss)}</code>
            ) : (
              <button type="button" class="place mono" onClick={() => onShow(loss.pointer!)}>
                {loss.pointer}
                <span class="unseen">{words.show(loss.pointer)}</span>
              </button>
            )}
            <span class="reason">{reasonOf(loss)}</span>
            {loss.restored && <span class="faint">{words.restored}</span>}
            {isAnswer && <span class="faint">{words.answer}</span>}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Name of a loss's kind. */
export const kindOf = ({ kind }: Loss): string =>
  (text().losses.kind as { readonly [kind: string]: string })[kind] ?? kind

/** Reason of a loss as words. */
export const reasonOf = ({ reason }: Loss): string => reasonText(reason)

/** Path of a loss, joined by slashes. */
export const placeOf = ({ path }: Loss): string => path.join('/')
