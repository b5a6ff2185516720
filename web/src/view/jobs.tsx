// Texts on their way into the memory.

import { cancel, drop, jobs, type Job } from "../state/jobs";
import { Bar, Failure } from "./parts";

export function Jobs() {
  return (
    <>
      <ul class="jobs" aria-label="In progress">
        {jobs.value.map((job) => (
          <li key={job.key}>
            <span class="name">{job.name}</span>
            {job.error ? <Stuck job={job} /> : <Progress job={job} />}
          </li>
        ))}
      </ul>
      {/* Read aloud, and so only now and then. */}
      <p class="hidden" role="status">
        {jobs.value.map((job) => !job.error && `${job.name}: ${Math.floor(share(job) * 4) * 25} %. `)}
      </p>
    </>
  );
}

const share = ({ task }: Job): number => (task?.total ? task.done / task.total : 0);

function Progress({ job }: { job: Job }) {
  const { task } = job;
  const percent = Math.round(share(job) * 100);
  const what = !task ? "sending" : task.state === "queued" ? "waiting its turn" : task.stage;
  return (
    <>
      <div class="progress" role="progressbar" aria-label={`Progress of ${job.name}`} aria-valuenow={percent}>
        <Bar share={share(job)} />
        <span class="detail">
          {what} {percent} %
        </span>
      </div>
      {task && (
        <button class="link" onClick={() => cancel(job)}>
          Cancel
        </button>
      )}
    </>
  );
}

function Stuck({ job }: { job: Job }) {
  const { error, again } = job;
  return (
    <>
      <Failure error={error} />
      <div class="actions">
        {again && <button onClick={again}>Try again</button>}
        <button class="quiet" onClick={() => drop(job.key)}>
          Dismiss
        </button>
      </div>
    </>
  );
}
