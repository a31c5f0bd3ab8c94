import { hrefOf } from '../../../pages.ts'
import { Icon } from '../../../ui/icon.tsx'
import { text } from '../texts.ts'
import type { HeaderLosses } from './losses.ts'

/** What the upstream was not sent as it was written, and why. */
export function LossesView({ of: { count, named } }: { readonly of: HeaderLosses }) {
  const words = text().trial
  const more = count - named.length
  return (
    <div class="callout warn trial-losses">
      <Icon name="warning" />
      <div>
        <p>{words.lossesLead}</p>
        <ul>
          {named.map(({ place, reason }, at) => (
            <li key={at}>
              <code>{place}</code> <span>{reason.replaceAll('-', ' ')}</span>
            </li>
          ))}
        </ul>
        {more > 0 && <p>{words.lossesMore(more)}</p>}
        <a href={hrefOf('/translator')}>{words.toTranslator}</a>
      </div>
    </div>
  )
}
