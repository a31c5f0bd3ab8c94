/** Why the store cannot be used at present. Callers and operators see this value. */
export type StoreFault = 'full' | 'read-only' | 'locked' | 'damaged' | 'unreachable' | 'failing' | 'newer'
