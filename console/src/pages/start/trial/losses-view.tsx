import { hrefOf } from '../../../href.ts'
import { reasonText } from '../../../i18n/loss-reasons.ts'
import { Icon } from '../../../ui/icon.tsx'
import { text } from '../texts.ts'
import type { HeaderLoss, HeaderLosses } from './losses.ts'

/** Losses and additions of a request, with their reasons. */
export function LossesView({ of: { count, named, added } }: { readonly of: HeaderLosses }) {
  const words = text().trial
  const more = count - named.length
  return (
    <div class={`callout ${count > 0 ? 'warn ' : ''}trial-losses`}>
      <Icon name="warning" />
      <div>
        {count > 0 && <p>{words.lossesLead}</p>}
        <Entries of={named} />
        {more > 0 && <p>{words.lossesMore(more)}</p>}
        {added.length > 0 && <p>{words.addedLead}</p>}
        <Entries of={added} />
        <a href={hrefOf('/translator')}>{words.toTranslator}</a>
      </div>
    </div>
  )
}

const Entries = ({ of }: { readonly of: readonly HeaderLoss[] }) =>
  of.length === 0 ? null : (
    <ul>
      {of.map(({ place, reason }, at) => (
        <li key={at}>
          <code>{place}</code> <span>{reasonText(reason)}</span>
        </li>
      ))}
    </ul>
  )
