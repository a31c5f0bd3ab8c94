import { common } from '../i18n/common.ts'
import { Empty } from '../ui/states.tsx'

/** Message for an address that has no page. */
export function NotFound() {
  return <Empty title={common().notFound} />
}
