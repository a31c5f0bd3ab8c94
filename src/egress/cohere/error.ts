export { writeComplaint as writeError } from '../complaint.ts'
