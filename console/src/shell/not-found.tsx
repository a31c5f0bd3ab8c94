import { common } from '../i18n/common.ts'
import { Empty } from '../ui/states.tsx'

export function NotFound() {
  return <Empty title={common().notFound} />
}
