import { channels as en } from '../../i18n/en/channels.ts'
import { texts } from '../../i18n/index.ts'
import { channels as zh } from '../../i18n/zh/channels.ts'

export const text = texts({ en, zh })
