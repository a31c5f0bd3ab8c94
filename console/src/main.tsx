import './style/index.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { keepFocus } from './focus.ts'
import { listenForKeys } from './keyboard.ts'
import { loadSession } from './session.ts'
import { applyTheme } from './theme.ts'

applyTheme()
listenForKeys()
keepFocus()
void loadSession()
render(<App />, document.getElementById('app')!)
