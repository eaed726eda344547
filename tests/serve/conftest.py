"""Services in this process, asked over ASGI."""

import pytest
from clients import Client, Process

import mondegreen as mg


@pytest.fixture
def privatizer(space_file):
    """Words of the small space, nearly evenly."""
    return mg.Privatizer(mg.mechanism("tem", epsilon=0.01), mg.load_space(space_file))


@pytest.fixture
def serve(privatizer):
    """Return what makes a client of a service; arguments are those of Settings."""
    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings

    made = []

    def build(privatizer=privatizer, **settings):
        app = create_app(ServiceSettings(privatizer, **settings))
        made.append(app)
        return Client(app)

    yield build
    for app in made:
        app.state.batcher.close()


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "service.key"
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def start(tmp_path_factory, space_file):
    """Return what starts a service of its own; arguments are options."""
    folder, made = tmp_path_factory.mktemp("services"), []

    def begin(*options):
        made.append(Process(folder, *options, space=space_file))
        return made[-1]

    yield begin
    for each in made:
        each.kill()


@pytest.fixture
def api_keys(tmp_path):
    path = tmp_path / "api.keys"
    path.write_text("# for tests\nfirst-key-of-thirty-letters-xx\n\n" + "b" * 40 + "\n")
    path.chmod(0o600)
    return path
