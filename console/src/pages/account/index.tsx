import './account.css'
import { isAdmin } from '../../session-state.ts'
import { Page } from '../../ui/page.tsx'
import { Own } from './own.tsx'
import { PasswordForm } from './password-form.tsx'
import { text } from './texts.ts'
import { Users } from './users.tsx'

/** Account page: the user's password and sessions, and for admins all users. */
export default function Account() {
  return (
    <Page title={text().title} lead={text().lead}>
      <div class="account">
        <Own />
        <PasswordForm />
      </div>
      {isAdmin.value && <Users />}
    </Page>
  )
}
