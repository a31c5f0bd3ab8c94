import type { ComponentChildren } from 'preact'
import type { Overview } from '../../api/types.ts'
import { FailureText } from '../../catalogue/failure.tsx'
import { duration, number } from '../../format.ts'
import { hrefOf } from '../../href.ts'
import { shortFormatName } from '../../i18n/formats.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { When } from '../../ui/when.tsx'
import { text } from './texts.ts'

const at = (path: string, query: Record<string, string>): string => `${hrefOf(path)}?${new URLSearchParams(query)}`
/** Formats a percentile from a histogram with 3 digits. */
const timed = (milliseconds: number): string => duration(Number(milliseconds.toPrecision(3)))

/** Cards with recent failures, slow models, losses and formats. */
export function Details({ of }: { readonly of: Overview }) {
  const words = text()
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
        <List none={words.noSlowest}>
          {of.slowest.map(({ model, first_byte_ms: { p50, p95 } }) => (
            <li key={model}>
              <a class="said" href={at('/usage', { range: '24h', show: 'first_byte', model })}>
                {model}
              </a>
              <span class="note">{words.firstByte(timed(p50), timed(p95))}</span>
            </li>
          ))}
        </List>
      </Card>
      <Card title={words.losses}>
        <List none={words.noLosses}>
          {of.losses.map(({ format, upstream_format: upstream, losses, requests }) => (
            <li key={`${format} ${upstream}`}>
              <a href={at('/traffic', { only: 'losses' })}>
                {shortFormatName(format)}
                {upstream !== '' && ` → ${shortFormatName(upstream)}`}
              </a>
              <span class="note">{words.lost(number(losses), number(requests))}</span>
            </li>
          ))}
        </List>
      </Card>
      <Card title={words.formats}>
        <List none={words.noFormats}>
          {of.formats.map(({ format, requests, package: name, version }) => (
            <li key={format}>
              <span>
                {shortFormatName(format)} <span class="faint">· {words.requests(number(requests))}</span>
              </span>
              {name !== undefined && <span class="note">{words.release(name, version!)}</span>}
            </li>
          ))}
        </List>
      </Card>
    </div>
  )
}

/** A list of two-line rows, or a sentence if it is empty. */
const List = ({ none, children }: { readonly none: string; readonly children: readonly ComponentChildren[] }) =>
  children.length === 0 ? <p class="note">{none}</p> : <ul class="overview-list">{children}</ul>
