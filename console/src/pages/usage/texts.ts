import { usage as en } from '../../i18n/en/usage.ts'
import { texts } from '../../i18n/index.ts'
import { usage as zh } from '../../i18n/zh/usage.ts'

export const text = texts({ en, zh })
