import { ProblemError } from '../api/problem.ts'
import { common } from '../i18n/common.ts'
import { Problem } from '../ui/states.tsx'

/** In place of a page that cannot be shown: its code could not be loaded, or it failed. */
export const Broken = () => (
  <Problem error={new ProblemError(-1, { detail: common().broken })} onRetry={() => location.reload()} />
)
