import { common } from '../../i18n/common.ts'
import { Page } from '../../ui/page.tsx'

export default function Empty() {
  return <Page title={common().pages.channels} />
}
