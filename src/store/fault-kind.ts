/** Why a store cannot be used at present, in a value for callers and operators alike. */
export type StoreFault = 'full' | 'read-only' | 'locked' | 'damaged' | 'unreachable' | 'failing' | 'newer'
