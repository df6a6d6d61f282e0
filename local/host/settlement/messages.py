"""The protobuf messages of the settlement service, built at run time.

Source: `settlement.proto` of Microsoft.Azure.WebJobs.Extensions.ServiceBus (azure-sdk-for-net). It declares no package,
so the service's full name is `Settlement`. Only the message methods are here; there are no sessions in this host.
"""

from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, empty_pb2, message_factory, wrappers_pb2

SERVICE = "Settlement"

_STRING = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
_BYTES = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
_MESSAGE = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE

_TOKEN = ("locktoken", 1, _STRING)
_PROPERTIES = ("propertiesToModify", 2, _BYTES)
_REQUESTS: dict[str, tuple[tuple[str, int, Any], ...]] = {
    "Complete": (_TOKEN,),
    "Abandon": (_TOKEN, _PROPERTIES),
    "Deadletter": (_TOKEN, _PROPERTIES, ("deadletterReason", 3, _MESSAGE), ("deadletterErrorDescription", 4, _MESSAGE)),
    "Defer": (_TOKEN, _PROPERTIES),
    "RenewMessageLock": (_TOKEN,),
}


def request_parsers() -> dict[str, Callable[[bytes], Any]]:
    """For each method of the service, what turns a request's bytes into its message."""
    file = descriptor_pb2.FileDescriptorProto(
        name="settlement.proto", syntax="proto3", dependency=[wrappers_pb2.DESCRIPTOR.name]
    )
    for method, fields in _REQUESTS.items():
        request = file.message_type.add(name=f"{method}Request")
        for name, number, kind in fields:
            field = request.field.add(name=name, number=number, type=kind, label=1)
            if kind == _MESSAGE:
                field.type_name = ".google.protobuf.StringValue"
    # A pool of our own: the default one is shared with whatever else the process has loaded.
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        method: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{method}Request")).FromString
        for method in _REQUESTS
    }


# Every method answers google.protobuf.Empty.
EMPTY: bytes = empty_pb2.Empty().SerializeToString()
