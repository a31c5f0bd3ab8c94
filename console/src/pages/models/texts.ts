import { models as en } from '../../i18n/en/models.ts'
import { texts } from '../../i18n/index.ts'
import { models as zh } from '../../i18n/zh/models.ts'

export const text = texts({ en, zh })
