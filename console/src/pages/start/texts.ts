import { start as en } from '../../i18n/en/start.ts'
import { texts } from '../../i18n/index.ts'
import { start as zh } from '../../i18n/zh/start.ts'

export const text = texts({ en, zh })
