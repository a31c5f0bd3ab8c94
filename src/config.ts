export type * from './config/types.ts'
