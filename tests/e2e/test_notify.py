# Tests: notify/send/send, aresctld/notify/notifier
"""Mail by SMTP and webhooks: what a mail server and an HTTP server of the test receive."""

import hashlib
import hmac
import json
import os
import pwd

import pytest

from cluster import Cluster, f1, until
from notify_servers import HookServer, MailServer, certificate

ME = pwd.getpwuid(os.getuid()).pw_name


def log_of(cluster):
    return (cluster.dir / "log" / "aresctld.log").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("notify")
    for name, text in (("password", "p w\n"), ("token", "t0ken\n"), ("secret", "s3cret\n")):
        (path / name).write_text(text)
        (path / name).chmod(0o600)
    return path


@pytest.fixture(scope="module")
def tls(folder):
    return certificate(folder)


@pytest.fixture(scope="module")
def mail(tls):
    made = MailServer(tls=tls, login=("ares", "p w"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def hooks(tls):
    made = HookServer(tls=tls)
    yield made
    made.close()


@pytest.fixture(scope="module")
def chat():
    made = HookServer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def cluster(folder, tls, mail, hooks, chat):
    notify = f"""
notify:
  smtp: {{server: "smtp://localhost:{mail.port}", from: ares@site.test, user: ares, password_file: {folder}/password,
    ca_file: {tls[0]}, mail_domain: site.test}}
  webhooks:
    - {{name: ops, url: "https://localhost:{hooks.port}/in?x=1", token_file: {folder}/token, secret_file: {folder}/secret,
       ca_file: {tls[0]}}}
    - {{name: chat, url: "http://127.0.0.1:{chat.port}/", format: slack}}
    - {{name: private, url: "http://127.0.0.1:{chat.port}/", users: [daemon]}}
    - {{name: untrusted, url: "https://localhost:{hooks.port}/"}}
  retry_after: 1
"""
    made = Cluster(config=f1() + notify)
    yield made
    made.close()


def mails_about(mail, job):
    return [m for m in mail.mails if f"job {job} " in m["text"]["Subject"]]


def test_mail_goes_to_the_mail_server_by_tls_with_the_password(cluster, mail):
    job = cluster.wrap("exit 3", "-J", "größe", "--mail-type=END", f"--mail-user={ME},team@example.org")
    cluster.wait_state(job, "FAILED")
    sent = until(lambda: len(mails_about(mail, job)) == 2 and mails_about(mail, job))
    assert sorted(m["to"] for m in sent) == sorted([[f"{ME}@site.test"], ["team@example.org"]])
    assert all(m["from"] == "ares@site.test" and m["tls"] and m["user"] == "ares" for m in sent)
    text = sent[0]["text"]
    assert text["Subject"].startswith(f"Ares job {job} (größe) ended: FAILED, exit code 3")
    assert text["Auto-Submitted"] == "auto-generated" and text["Message-ID"].startswith("<")
    assert "Name:        größe" in text.get_content() and "Exit:        exit code 3" in text.get_content()


def test_webhook_is_told_with_token_and_signature(cluster, hooks, chat):
    job = cluster.wrap("true", "-J", "<train>", "--mail-type=BEGIN,END", "--mail-user=webhook:ops,webhook:chat")
    cluster.completed(job)
    until(lambda: len(hooks.of_job(job)) == 2)
    by_event = {json.loads(r["body"])["event"]: r for r in hooks.of_job(job)}
    assert set(by_event) == {"BEGIN", "END"}
    request = by_event["END"]
    headers, body = request["headers"], json.loads(request["body"])
    assert request["path"] == "/in?x=1" and headers["Content-Type"] == "application/json"
    assert headers["Authorization"] == "Bearer t0ken"
    assert headers["X-Ares-Signature"] == "sha256=" + hmac.new(b"s3cret", request["body"], hashlib.sha256).hexdigest()
    assert headers["X-Ares-Event"] == "END" and headers["X-Ares-Delivery"] == body["delivery"]
    assert body["job"]["name"] == "<train>" and body["job"]["user"] == ME and body["job"]["state"] == "COMPLETED"
    assert body["job"]["started"] <= body["job"]["ended"] and body["version"] == 1
    said = until(lambda: [json.loads(r["body"])["text"] for r in chat.requests
                          if f"job {job} " in json.loads(r["body"])["text"] and "ended" in json.loads(r["body"])["text"]])
    assert f"Ares job {job} (&lt;train&gt;) ended: COMPLETED" in said[0]


def test_unknown_webhooks_and_those_of_others_are_refused(cluster):
    def refusal(*words):
        done = cluster.run("asub", *words, "--wrap", "true", check=False)
        assert done.returncode == 1
        return done.stderr
    assert 'there is no webhook "tema" in ares.yaml; use one of ops, chat' in refusal("--mail-user=webhook:tema")
    assert f'user {ME} may not choose the webhook "private"' in refusal("--mail-user=webhook:private")
    assert "private" not in refusal("--mail-user=webhook:tema")
    assert 'no webhook "tema"' in refusal("--test-only", "--mail-user=webhook:tema")
    job = cluster.wrap("true", "-H")
    done = cluster.run("actl", "update", f"job={job}", "MailUser=webhook:tema", check=False)
    assert done.returncode == 1 and 'no webhook "tema"' in done.stderr
    cluster.cancel(job)


def test_what_a_server_cannot_take_now_is_sent_again_with_the_same_id(cluster, hooks, mail):
    hooks.statuses += [(503, {}), (429, {"Retry-After": "2"})]
    mail.answers["RCPT"] = ["451 greylisted, come back"]
    job = cluster.wrap("true", "--mail-type=END", f"--mail-user={ME},webhook:ops")
    cluster.completed(job)
    until(lambda: len(hooks.of_job(job)) == 3)
    assert [r["status"] for r in hooks.of_job(job)] == [503, 429, 204]
    assert len({r["headers"]["X-Ares-Delivery"] for r in hooks.of_job(job)}) == 1
    until(lambda: [m for m in mail.mails if f"job {job} " in m["text"]["Subject"]])
    until(lambda: "webhook ops takes messages again" in log_of(cluster))
    assert "webhook ops takes no messages: the server answered 503" in log_of(cluster)


def test_message_that_is_refused_is_dropped_and_logged(cluster, hooks, mail):
    hooks.statuses.append((400, {}))
    job = cluster.wrap("true", "--mail-type=END", "--mail-user=unknown@example.org,webhook:ops")
    cluster.completed(job)
    until(lambda: f"webhook ops: no message about job {job}" in log_of(cluster))
    until(lambda: f"no message about job {job} to unknown@example.org: the server answered 550 no such user" in log_of(cluster))
    assert len(hooks.of_job(job)) == 1


def test_one_unknown_address_costs_the_others_nothing(cluster, mail):
    job = cluster.wrap("true", "--mail-type=END", "--mail-user=unknown@example.org,known@example.org")
    cluster.completed(job)
    sent, = until(lambda: [m for m in mail.mails if f"job {job} " in m["text"]["Subject"]])
    assert sent["to"] == ["known@example.org"]


def test_neither_certificates_nor_redirections_are_trusted(cluster, hooks):
    job = cluster.wrap("true", "--mail-type=END", "--mail-user=webhook:untrusted")
    cluster.completed(job)
    until(lambda: "webhook untrusted takes no messages" in log_of(cluster))
    assert hooks.of_job(job) == []
    hooks.statuses.append((302, {"Location": f"https://localhost:{hooks.port}/other"}))
    job = cluster.wrap("true", "--mail-type=END", "--mail-user=webhook:ops")
    cluster.completed(job)
    until(lambda: [r["status"] for r in hooks.of_job(job)] == [302, 204])
    assert {r["path"] for r in hooks.of_job(job)} == {"/in?x=1"}


def test_mail_server_that_is_away_delays_no_job_and_gets_the_mail_later(cluster, mail, tls):
    port = mail.port
    mail.close()
    jobs = [cluster.wrap("true", "--mail-type=END") for _ in range(3)]
    for job in jobs:
        cluster.completed(job)
    until(lambda: f"mail server smtp://localhost:{port} takes no messages" in log_of(cluster))
    again = MailServer(port=port, tls=tls, login=("ares", "p w"))
    try:
        for job in jobs:
            until(lambda job=job: [m for m in again.mails if f"job {job} " in m["text"]["Subject"]])
        assert len(again.mails) == len(jobs)
    finally:
        again.close()


def test_secrets_are_in_no_command_line_and_no_log(cluster, others):
    log = log_of(cluster)
    for secret in ("p w", "t0ken", "s3cret", "/in?x=1"):
        assert secret not in log
    shown = cluster.run("actl", "show", "config", user=others[0]).stdout
    assert "token_file" in shown and "t0ken" not in shown
    # Who knows the URL of a webhook can send to it.
    assert "https://localhost" in shown and "/in?x=1" not in shown
    assert "/in?x=1" in cluster.run("actl", "show", "config").stdout


def test_secrets_that_others_can_read_are_not_used(cluster, folder, hooks):
    (folder / "token").chmod(0o644)
    job = cluster.wrap("true", "--mail-type=END", "--mail-user=webhook:ops")
    cluster.completed(job)
    until(lambda: "token: other users can read or change it" in log_of(cluster))
    (folder / "token").chmod(0o600)
    until(lambda: hooks.of_job(job))


def test_changed_configuration_ends_pauses(cluster, hooks):
    hooks.statuses.append((503, {"Retry-After": "3000"}))
    job = cluster.wrap("true", "--mail-type=END", "--mail-user=webhook:ops")
    cluster.completed(job)
    until(lambda: "trying again in 3000 s" in log_of(cluster))
    path = cluster.dir / "ares.yaml"
    path.write_text(path.read_text().replace("retry_after: 1\n", "retry_after: 2\n"))
    changes = cluster.run("actl", "reconfigure").stdout
    assert "retry_after" in changes and "/in?x=1" not in changes
    until(lambda: [r["status"] for r in hooks.of_job(job)] == [503, 204])
