import './account.css'
import { isAdmin } from '../../session-state.ts'
import { Page } from '../../ui/page.tsx'
import { Own } from './own.tsx'
import { PasswordForm } from './password-form.tsx'
import { text } from './texts.ts'
import { Users } from './users.tsx'

/** The user's own password and sessions; for admins all users. */
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
