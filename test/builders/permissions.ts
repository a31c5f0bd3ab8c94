import { type Permissions, permissionsOf } from '../../src/accounts/permissions.ts'

/** Returns permissions for these models without further restrictions. */
export const permitting = (...models: string[]): Permissions =>
  permissionsOf({ limits: {}, enabled: true }, { name: 'default', models, limits: {}, onLoss: 'show' })
