import type { ComponentChildren } from 'preact'
import type { ProblemError } from '../api/problem.ts'
import { common } from '../i18n/common.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

interface EmptyProps {
  readonly icon?: IconName
  readonly title: string
  readonly children?: ComponentChildren
  readonly action?: ComponentChildren
}

/** Message in place of an empty list, with an optional action. */
export const Empty = ({ icon = 'info', title, children, action }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} size={28} />
    <strong>{title}</strong>
    {children && <p>{children}</p>}
    {action}
  </div>
)

/** Placeholder lines during loading. */
export const Loading = ({ lines = 4 }: { readonly lines?: number }) => (
  <div class="loading" role="status">
    <span class="unseen">{common().loading}</span>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} class="bone" />
    ))}
  </div>
)

interface ProblemProps {
  readonly error: ProblemError
  readonly onRetry?: () => unknown
}

/** Error message with an optional retry button. */
export const Problem = ({ error, onRetry }: ProblemProps) => (
  <div class="problem" role="alert">
    <Icon name="warning" />
    <span>{messageOf(error)}</span>
    {onRetry && (
      <Button small onClick={onRetry}>
        {common().retry}
      </Button>
    )}
  </div>
)

/** Message of an error: the gateway's text if it has one. */
export const messageOf = (error: ProblemError): string =>
  error.status === 0 ? common().unreachable : error.message === '' ? common().failed : error.message

interface LoadedProps<T> {
  readonly of: { readonly data: T | undefined; readonly error: ProblemError | undefined; reload(): unknown }
  readonly lines?: number
  readonly children: (data: T) => ComponentChildren
}

/** Shows the data of a load, the placeholder during the first load, and the error of a failed one. */
export const Loaded = <T,>({ of: { data, error, reload }, lines, children }: LoadedProps<T>) => (
  <>
    {error && <Problem error={error} onRetry={reload} />}
    {data !== undefined
      ? children(data)
      : error === undefined && <Loading {...(lines === undefined ? {} : { lines })} />}
  </>
)
