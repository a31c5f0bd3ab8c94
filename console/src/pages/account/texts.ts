import { account as en } from '../../i18n/en/account.ts'
import { texts } from '../../i18n/index.ts'
import { account as zh } from '../../i18n/zh/account.ts'

export const text = texts({ en, zh })
