import type { ChannelTest } from '../../api/types.ts'
import { Badge } from '../../ui/badge.tsx'
import { text } from './texts.ts'

const TONES = { ok: 'good', warning: 'warn', fault: 'bad' } as const

/** Findings of a test about the answer, the clock and the models, with steps that remove a fault. */
export const Findings = ({ of }: { readonly of: ChannelTest['findings'] }) =>
  of.length === 0 ? null : (
    <ul class="channels-findings">
      {of.map(({ level, subject, text: said, remedy }) => (
        <li key={`${subject}${said}`}>
          <Badge tone={TONES[level]} dot>
            {text().test.subjects[subject]}
          </Badge>
          <span>
            <span class="said">{said}</span>
            {remedy !== undefined && <span class="note said">{remedy}</span>}
          </span>
        </li>
      ))}
    </ul>
  )
