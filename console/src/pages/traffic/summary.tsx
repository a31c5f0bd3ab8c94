import type { ComponentChildren } from 'preact'
import type { Request } from '../../api/types.ts'
import { Estimable } from '../../catalogue/estimable.tsx'
import { money, number, time } from '../../format.ts'
import { shortFormatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { addressOf } from './address.ts'
import { clock } from './columns.tsx'
import { text } from './texts.ts'
import { Legend, scaleOf, spansOf, took, Waterfall } from './waterfall.tsx'

interface SummaryProps {
  readonly row: Request
  readonly replayOf: string | undefined
}

/** Facts of a request and its timeline. */
export function Summary({ row, replayOf }: SummaryProps) {
  const words = text().detail
  const isNative = row.upstream_format === row.format
  return (
    <Card>
      <dl class="request-facts">
        <Fact name={text().columns.time}>
          <time dateTime={row.at} title={time(row.at, 'full')}>
            {clock(row.at, true)}
          </time>
        </Fact>
        <Fact name={text().columns.key}>
          {row.key_name ?? '–'}
          {row.group !== undefined && <span class="faint"> · {row.group}</span>}
        </Fact>
        <Fact name={words.format}>
          <span>{shortFormatName(row.format)}</span>
          {row.upstream_format !== undefined && (
            <span class="faint"> {isNative ? `· ${words.native}` : `→ ${shortFormatName(row.upstream_format)}`}</span>
          )}
        </Fact>
        <Fact name={words.channel}>
          {row.channel ?? '–'}
          {row.upstream_model !== undefined && row.upstream_model !== row.model && (
            <span class="faint"> · {row.upstream_model}</span>
          )}
        </Fact>
        <Fact name={words.tokens}>
          {row.input_tokens === undefined ? (
            '–'
          ) : (
            <Estimable
              of={row}
              title={words.estimated}
              text={`${number(row.input_tokens)} / ${number(row.output_tokens ?? 0)}`}
            />
          )}
          <Details row={row} />
        </Fact>
        <Fact name={words.cost}>
          <Estimable of={row} title={words.estimated} text={money(row.cost)} />
        </Fact>
        <Fact name={text().columns.losses}>
          {row.losses === 0 ? '0' : <Badge tone="warn">{text().lost(row.losses)}</Badge>}
        </Fact>
        {row.finish !== undefined && <Fact name={words.finish}>{row.finish}</Fact>}
        {row.upstream_id !== undefined && (
          <Fact name={words.upstreamId}>
            <code class="cut">{row.upstream_id}</code>
          </Fact>
        )}
        {replayOf !== undefined && (
          <Fact name={words.replayOf}>
            <a class="mono cut" href={addressOf(replayOf)}>
              {replayOf}
            </a>
          </Fact>
        )}
      </dl>
      <div class="request-timeline">
        <div class="request-timeline-head">
          <Legend failed={row.tries !== undefined} />
          <strong>{took(row.duration_ms)}</strong>
        </div>
        <Waterfall row={row} scale={scaleOf([row])} large />
        <ol class="request-spans">
          {spansOf(row).map(({ phase, from, to, channel }) => (
            <li key={`${phase}${from}`}>
              <span class={`swatch ${phase}`} />
              {text().phases[phase]}
              {channel !== undefined && <span class="faint"> {channel}</span>}
              <span class="number"> {took(to - from)}</span>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function Details({ row }: { readonly row: Request }) {
  const words = text().detail
  const parts = [
    ...(row.cache_read_tokens ? [words.cached(number(row.cache_read_tokens))] : []),
    ...(row.reasoning_tokens ? [words.reasoning(number(row.reasoning_tokens))] : []),
  ]
  return parts.length === 0 ? null : <span class="faint"> · {parts.join(', ')}</span>
}
