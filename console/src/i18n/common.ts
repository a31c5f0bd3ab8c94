import { common as en } from './en/common.ts'
import { texts } from './index.ts'
import { common as zh } from './zh/common.ts'

/** Texts of the frame and of the parts that all pages share. */
export const common = texts({ en, zh })
