import sandbox


def test_one_call_opens_an_empty_sandbox_to_work_in():
    with sandbox.open() as box:
        box.files.write("hello.py", b"print('hi')\n")
        assert box.run(["python3", "hello.py"]).stdout == b"hi\n"
        assert box.run(["git", "log", "--format=%s"]).stdout == b"empty\n"


def test_set_up_is_done_in_it(engine):
    with sandbox.open(setup=["echo tool >/usr/local/bin/tool"], engine=engine) as box:
        assert box.run(["cat", "/usr/local/bin/tool"]).stdout == b"tool\n"


def test_it_is_gone_at_the_end(engine):
    with sandbox.open(engine=engine) as box:
        pass
    assert box.lost() is not None
