import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'credential-empty',
  says: 'The key of the credential is lost.',
  cell: 'contents-contents/text/whole',
  caught: ['request.credential'],
  headers: headers => ({ ...headers, 'x-goog-api-key': '' }),
}
