import type { ComponentChildren } from 'preact'
import type { Overview } from '../../api/types.ts'
import { FailureText } from '../../catalogue/failure.tsx'
import { duration, number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { shortFormatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { BarList, BarRow } from '../../ui/bar-list.tsx'
import { Card } from '../../ui/page.tsx'
import { When } from '../../ui/when.tsx'
import { text } from './texts.ts'

const at = (path: string, query: Record<string, string>): string => `${hrefOf(path)}?${new URLSearchParams(query)}`
/** Formats a percentile from a histogram with 3 digits. */
const timed = (milliseconds: number): string => duration(Number(milliseconds.toPrecision(3)))

/** Cards with recent failures, slow models, losses and formats. */
export function Details({ of }: { readonly of: Overview }) {
  const words = text()
  const slowest = Math.max(...of.slowest.map(one => one.first_byte_ms.p95))
  const mostLosses = Math.max(...of.losses.map(one => one.losses))
  const mostRequests = Math.max(...of.formats.map(one => one.requests))
  return (
    <div class="overview-details">
      <Card title={words.failures} actions={<a href={at('/traffic', { only: 'errors' })}>{words.allFailures}</a>}>
        <List none={words.noFailures}>
          {of.failures.map(one => (
            <li key={one.request}>
              <FailureText of={one} />
              <span class="note">
                <Badge tone="bad">{words.times(number(one.count))}</Badge>{' '}
                {[one.channel, one.model].filter(Boolean).join(' · ')} ·{' '}
                <a href={at('/traffic', { request: one.request })}>
                  <When at={one.at} relative />
                </a>
              </span>
            </li>
          ))}
        </List>
      </Card>
      <Card title={words.slowest}>
        <Bars none={words.noSlowest}>
          {of.slowest.map(({ model, first_byte_ms: { p50, p95 } }) => (
            <BarRow
              key={model}
              label={<a href={at('/usage', { range: '24h', show: 'first_byte', model })}>{model}</a>}
              value={words.firstByte(timed(p50), timed(p95))}
              share={p50 / slowest}
              behind={p95 / slowest}
            />
          ))}
        </Bars>
      </Card>
      <Card title={words.losses}>
        <LossKinds of={of.loss_kinds} />
        <Bars none={words.noLosses}>
          {of.losses.map(({ format, upstream_format: upstream, losses, requests }) => (
            <BarRow
              key={`${format} ${upstream}`}
              label={
                <a href={at('/traffic', { only: 'losses' })}>
                  {shortFormatName(format)}
                  {upstream !== '' && ` → ${shortFormatName(upstream)}`}
                </a>
              }
              value={words.lost(number(losses), number(requests))}
              share={losses / mostLosses}
            />
          ))}
        </Bars>
      </Card>
      <Card title={words.formats}>
        <Bars none={words.noFormats}>
          {of.formats.map(({ format, requests, package: name, version }) => (
            <BarRow
              key={format}
              label={shortFormatName(format)}
              value={words.requests(number(requests))}
              share={requests / mostRequests}
              note={name !== undefined && words.release(name, version!)}
            />
          ))}
        </Bars>
      </Card>
    </div>
  )
}

const KINDS = ['dropped', 'changed', 'moved', 'other'] as const

/** Numbers of losses by kind. Nothing if there are none. */
function LossKinds({ of }: { readonly of: Overview['loss_kinds'] }) {
  const some = KINDS.filter(kind => of[kind] > 0)
  if (some.length === 0) return null
  return (
    <ul class="overview-kinds">
      {some.map(kind => (
        <li key={kind}>
          <span class={`swatch loss-${kind}`} />
          <strong class="number">{number(of[kind])}</strong> {text().lossKinds[kind]}
        </li>
      ))}
    </ul>
  )
}

/** Rows with bars, or a sentence if there are none. */
const Bars = ({ none, children }: { readonly none: string; readonly children: readonly ComponentChildren[] }) =>
  children.length === 0 ? <p class="note">{none}</p> : <BarList>{children}</BarList>

/** A list of two-line rows, or a sentence if it is empty. */
const List = ({ none, children }: { readonly none: string; readonly children: readonly ComponentChildren[] }) =>
  children.length === 0 ? <p class="note">{none}</p> : <ul class="overview-list">{children}</ul>
