import { keys as en } from '../../i18n/en/keys.ts'
import { texts } from '../../i18n/index.ts'
import { keys as zh } from '../../i18n/zh/keys.ts'

export const text = texts({ en, zh })
