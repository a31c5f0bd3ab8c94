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

/** Where a list has nothing: what would be here, and how it comes. */
export const Empty = ({ icon = 'info', title, children, action }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} size={28} />
    <strong>{title}</strong>
    {children && <p>{children}</p>}
    {action}
  </div>
)

/** Lines that stand for what is being loaded. */
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

/** What went wrong, in the gateway's own words. */
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

export const messageOf = (error: ProblemError): string =>
  error.status === 0 ? common().unreachable : error.message === '' ? common().failed : error.message

interface LoadedProps<T> {
  readonly of: { readonly data: T | undefined; readonly error: ProblemError | undefined; reload(): unknown }
  readonly lines?: number
  readonly children: (data: T) => ComponentChildren
}

/** What was loaded, or that it is being loaded, or why it could not be. */
export const Loaded = <T,>({ of: { data, error, reload }, lines, children }: LoadedProps<T>) => (
  <>
    {error && <Problem error={error} onRetry={reload} />}
    {data !== undefined
      ? children(data)
      : error === undefined && <Loading {...(lines === undefined ? {} : { lines })} />}
  </>
)
