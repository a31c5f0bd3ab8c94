import { common as en } from './en/common.ts'
import { texts } from './index.ts'
import { common as zh } from './zh/common.ts'

/** Texts that all pages share: navigation, sign-in, buttons and messages. */
export const common = texts({ en, zh })
