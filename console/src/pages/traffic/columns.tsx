import { type Failure, failureName } from '../../catalogue/failure.tsx'
import { toneOf } from '../../catalogue/status-tone.ts'
import { number, time } from '../../format.ts'
import { shortFormatName } from '../../i18n/formats.ts'
import { locale } from '../../i18n/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Icon } from '../../ui/icon.tsx'
import type { Column } from '../../ui/table.tsx'
import { isRunning, type Row } from './row.ts'
import { text } from './texts.ts'
import { Scale, took, Waterfall } from './waterfall.tsx'

interface Options {
  readonly scale: number
  readonly hrefOf: (row: Row) => string
}

/** Badge with a request's status, or that it is running. */
export const StatusBadge = ({ row }: { readonly row: Row }) =>
  isRunning(row) ? (
    <Badge tone="accent" dot>
      {text().running}
    </Badge>
  ) : (
    <Badge tone={toneOf(row)} title={row.failure === undefined ? row.error : titleOf(row.failure)}>
      {row.status}
      {row.error !== undefined && <span class="kind">{row.error}</span>}
    </Badge>
  )

const titleOf = (failure: Failure): string => [failureName(failure), failure.message].filter(Boolean).join('\n')

/** Formats a time: `14:03:07` for today, otherwise or with `whole` preceded by the date. */
export function clock(at: string, whole = false): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const day = isToday && !whole ? {} : ({ month: 'short', day: 'numeric' } as const)
  return new Intl.DateTimeFormat(locale.value, {
    ...day,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(date)
}

/** Columns of the request list. */
export const columnsOf = ({ scale, hrefOf }: Options): readonly Column<Row>[] => {
  const words = text().columns
  return [
    {
      id: 'time',
      title: words.time,
      cell: row => (
        <a class="when" href={hrefOf(row)}>
          <time dateTime={row.at} title={time(row.at, 'full')}>
            {clock(row.at)}
          </time>
          {row.captured && (
            <span class="captured-mark" title={text().captured}>
              <Icon name="record" size={14} />
              <span class="unseen">{text().captured}</span>
            </span>
          )}
        </a>
      ),
    },
    { id: 'status', title: words.status, cell: row => <StatusBadge row={row} /> },
    { id: 'model', title: words.model, cell: row => <Model row={row} /> },
    {
      id: 'key',
      title: words.key,
      cell: row =>
        row.key_name === undefined ? (
          <span class="faint">{text().noKey}</span>
        ) : (
          <span class="cut name" title={row.key_name}>
            {row.key_name}
          </span>
        ),
    },
    {
      id: 'losses',
      title: words.losses,
      number: true,
      cell: row =>
        isRunning(row) || row.losses === 0 ? (
          <span class="faint">–</span>
        ) : (
          <Badge tone="warn" title={text().lost(row.losses)}>
            {number(row.losses)}
          </Badge>
        ),
    },
    { id: 'tokens', title: words.tokens, number: true, wide: true, cell: row => <Tokens row={row} /> },
    {
      id: 'waterfall',
      title: words.waterfall,
      scale: <Scale scale={scale} />,
      cell: row =>
        isRunning(row) ? (
          <div class="waterfall running" />
        ) : (
          <div class="request-time">
            <Waterfall row={row} scale={scale} />
            <span class="number">{took(row.duration_ms)}</span>
          </div>
        ),
    },
  ]
}

/** Model as the caller named it, with the formats and the channel below. */
const Model = ({ row }: { readonly row: Row }) => (
  <div class="request-model">
    <span class="cut mono" title={row.model}>
      {row.model ?? '–'}
    </span>
    <Route row={row} />
  </div>
)

const Route = ({ row }: { readonly row: Row }) => (
  <span class="request-route">
    <span>{shortFormatName(row.format)}</span>
    {!isRunning(row) && row.channel !== undefined && (
      <>
        <Icon name="right" size={12} />
        {row.upstream_format !== undefined && row.upstream_format !== row.format && (
          <span>{shortFormatName(row.upstream_format)}</span>
        )}
        <span class="cut faint">{row.channel}</span>
      </>
    )}
  </span>
)

function Tokens({ row }: { readonly row: Row }) {
  if (isRunning(row) || row.input_tokens === undefined) return <span class="faint">–</span>
  const [input, output] = [row.input_tokens, row.output_tokens ?? 0]
  return (
    <span title={text().tokensTitle(number(input), number(output), row.estimated === true)}>
      {row.estimated === true && <span aria-hidden="true">≈ </span>}
      {number(input, { short: true })}
      <span class="faint"> / {number(output, { short: true })}</span>
    </span>
  )
}
