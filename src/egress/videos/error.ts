export { writeError } from '../openai-error.ts'
