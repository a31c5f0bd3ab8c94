import { type Permissions, permissionsOf } from '../../src/accounts/permissions.ts'

/** A key that may use these models, and is limited in nothing else. */
export const permitting = (...models: string[]): Permissions =>
  permissionsOf({ limits: {}, enabled: true }, { name: 'default', models, limits: {}, onLoss: 'show' })
