import { Fragment } from 'preact'
import { reasonText } from '../../i18n/loss-reasons.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Listed, TONES } from './marks.ts'
import { placeText, text } from './texts.ts'

interface LossListProps {
  readonly losses: readonly Listed[]
  /** Format that the text was translated into. */
  readonly format: string
  readonly isStream: boolean
  readonly active: string | undefined
  readonly onActive: (id: string | undefined, show?: boolean) => void
}

/** List of losses. Hovering a loss highlights its mark, clicking scrolls to it. */
export const LossList = ({ losses, format, isStream, active, onActive }: LossListProps) => (
  <ul class="losses" aria-label={text().lossesIn(format)}>
    {losses.map(loss => (
      <li key={loss.id}>
        <button
          type="button"
          id={loss.id}
          class={[loss.id === active ? 'active' : '', loss.quiet ? 'quiet' : ''].filter(Boolean).join(' ') || undefined}
          onPointerEnter={() => onActive(loss.id)}
          onFocus={() => onActive(loss.id)}
          onClick={() => onActive(loss.id, true)}
        >
          <Badge tone={loss.quiet ? 'neutral' : TONES[loss.kind]}>{text().kinds[loss.kind]}</Badge>
          <code>{breakable(placeText(loss, isStream))}</code>
          <span class="why">
            {reasonText(loss.reason)}
            {loss.restored && <span class="faint"> · {text().restored}</span>}
          </span>
        </button>
      </li>
    ))}
  </ul>
)

/** Allows line breaks between the steps of a path. */
const breakable = (place: string) =>
  place.split(/(?=[.[])/).map((step, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {step}
    </Fragment>
  ))
