import { audit as en } from '../../i18n/en/audit.ts'
import { texts } from '../../i18n/index.ts'
import { audit as zh } from '../../i18n/zh/audit.ts'

export const text = texts({ en, zh })
