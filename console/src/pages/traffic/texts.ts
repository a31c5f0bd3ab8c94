import { traffic as en } from '../../i18n/en/traffic.ts'
import { texts } from '../../i18n/index.ts'
import { traffic as zh } from '../../i18n/zh/traffic.ts'

export const text = texts({ en, zh })
