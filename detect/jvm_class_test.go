package detect

import (
	"encoding/binary"
	"testing"
)

// classFile makes the bytes of a class file up to its interfaces, for compilers that are not there to make them.
type classFile struct {
	pool  []byte
	count uint16
}

func (c *classFile) add(constant ...byte) uint16 {
	c.pool = append(c.pool, constant...)
	c.count++
	return c.count
}

func (c *classFile) text(s string) uint16 {
	return c.add(append(binary.BigEndian.AppendUint16([]byte{jvmUTF8}, uint16(len(s))), s...)...)
}

func (c *classFile) class(name string) uint16 {
	return c.add(binary.BigEndian.AppendUint16([]byte{jvmClassRef}, c.text(name))...)
}

func (c *classFile) calls(class, method, descriptor string) {
	pair := func(tag byte, a, b uint16) uint16 {
		return c.add(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{tag}, a), b)...)
	}
	member := pair(jvmNameAndType, c.text(method), c.text(descriptor))
	pair(jvmMethodRef, c.class(class), member)
}

func (c *classFile) bytes(name, super string, interfaces ...string) []byte {
	head := []uint16{0x21, c.class(name), c.class(super), uint16(len(interfaces))}
	for _, i := range interfaces {
		head = append(head, c.class(i))
	}
	text := binary.BigEndian.AppendUint16([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52}, c.count+1)
	text = append(text, c.pool...)
	for _, n := range append(head, 0, 0, 0) { // no fields, methods, attributes
		text = binary.BigEndian.AppendUint16(text, n)
	}
	return text
}

func TestClassFilesOfOtherCompilers(t *testing.T) {
	t.Parallel()
	const handler = "(Ldemo/Greeter;Lorg/apache/pekko/actor/ClassicActorSystemProvider;)Lscala/Function1;"
	for name, c := range map[string]struct {
		make      func(c *classFile) []byte
		kind      kind
		framework string // "" where the class says nothing
		language  string
	}{
		"Kotlin": {func(c *classFile) []byte {
			c.text("Lkotlin/Metadata;")
			return c.bytes("demo/Greeter", "demo/GreeterGrpcKt$GreeterCoroutineImplBase")
		}, registers, "grpc-kotlin", "kotlin"},
		"Kotlin's stub": {func(c *classFile) []byte {
			c.text("Lkotlin/Metadata;")
			return c.bytes("demo/GreeterGrpcKt$GreeterCoroutineImplBase", "io/grpc/kotlin/AbstractCoroutineServerImpl")
		}, 0, "", ""},
		"ScalaPB": {func(c *classFile) []byte {
			c.text("ScalaSig")
			c.calls("demo/GreeterGrpc$", "bindService", "(Ldemo/GreeterGrpc$Greeter;)Lio/grpc/ServerServiceDefinition;")
			return c.bytes("demo/Server$", "java/lang/Object")
		}, registers, "ScalaPB", "scala"},
		"ScalaPB's stub": {func(c *classFile) []byte {
			c.calls("demo/GreeterGrpc$", "bindService", "(Ldemo/GreeterGrpc$Greeter;)Lio/grpc/ServerServiceDefinition;")
			return c.bytes("demo/GreeterGrpc$Greeter$", "java/lang/Object")
		}, 0, "", ""},
		"fs2-grpc": {func(c *classFile) []byte {
			c.text("TASTY")
			c.calls("demo/GreeterFs2Grpc$", "bindServiceResource", "()V")
			return c.bytes("demo/Server", "java/lang/Object")
		}, registers, "fs2-grpc", "scala"},
		"ZIO gRPC": {func(c *classFile) []byte {
			return c.bytes("demo/Server$", "java/lang/Object", "scalapb/zio_grpc/ServerMain")
		},
			constructs, "ZIO gRPC", ""},
		"Pekko gRPC": {func(c *classFile) []byte {
			c.calls("demo/GreeterHandler$", "apply", handler)
			return c.bytes("demo/Server$", "java/lang/Object")
		}, constructs, "Pekko gRPC", ""},
		"a handler of something else": {func(c *classFile) []byte {
			c.calls("demo/GreeterHandler$", "apply", "(Ldemo/Greeter;)Lscala/Function1;")
			c.text("org/apache/pekko/")
			return c.bytes("demo/Server$", "java/lang/Object")
		}, 0, "", ""},
		"Pekko's stub": {func(c *classFile) []byte {
			c.calls("demo/GreeterHandler$", "apply", handler)
			return c.bytes("demo/GreeterHandler", "java/lang/Object")
		}, 0, "", ""},
		"Play gRPC": {func(c *classFile) []byte {
			c.calls("demo/AbstractGreeterRouter", "<init>", "(Lakka/actor/ActorSystem;)V")
			return c.bytes("demo/Greeter", "demo/AbstractGreeterRouter")
		}, registers, "Play gRPC", ""},
		"Armeria": {func(c *classFile) []byte {
			c.calls("com/linecorp/armeria/server/grpc/GrpcService", "builder", "()V")
			return c.bytes("demo/Server", "java/lang/Object")
		}, constructs, "Armeria", ""},
		"Dubbo": {func(c *classFile) []byte {
			c.calls("org/apache/dubbo/config/ProtocolConfig", "<init>", "(Ljava/lang/String;I)V")
			c.add(binary.BigEndian.AppendUint16([]byte{jvmStringRef}, c.text("tri"))...)
			return c.bytes("demo/Server", "java/lang/Object")
		}, constructs, "Dubbo", ""},
		"Dubbo, another protocol": {func(c *classFile) []byte {
			c.calls("org/apache/dubbo/config/ProtocolConfig", "<init>", "(Ljava/lang/String;I)V")
			return c.bytes("demo/Server", "java/lang/Object")
		}, 0, "", ""},
		"reflection alone": {func(c *classFile) []byte {
			return c.bytes("demo/Reflection", "demo/ServerReflectionGrpc$ServerReflectionImplBase")
		}, 0, "", ""},
		"a long and a double": {func(c *classFile) []byte {
			for _, tag := range []byte{5, 6} {
				c.add(tag, 0, 0, 0, 0, 0, 0, 0, 0)
				c.count++
			}
			return c.bytes("demo/Greeter", "demo/GreeterGrpc$GreeterImplBase")
		}, registers, "grpc-java", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := jvmClassSheet(c.make(&classFile{}))
			if said == nil {
				if c.framework != "" {
					t.Error("the class says nothing")
				}
				return
			}
			if c.framework == "" {
				t.Fatalf("the class says %v", said.signs)
			}
			if s := said.signs[0]; s.kind != c.kind || s.framework != c.framework || said.own.(jvmSays).language != c.language {
				t.Errorf("the class says %+v, in %q", s, said.own.(jvmSays).language)
			}
		})
	}
}
