import { overview as en } from '../../i18n/en/overview.ts'
import { texts } from '../../i18n/index.ts'
import { overview as zh } from '../../i18n/zh/overview.ts'

export const text = texts({ en, zh })
